# SPDX-License-Identifier: Apache-2.0
# Run by `unshare --map-root-user --net`. Creates a network of a Redis server, at 10.7.1.1 and 10.7.2.1, and two machines that are
# connected to it by a link each. Prints a process id of each machine. Then, until the end of the input, disconnects the first
# machine for each line "cut" that it reads.
set -e
PATH=$PATH:/usr/sbin:/sbin
machines=
trap 'kill -KILL $machines $redis' EXIT

ip link set lo up
for n in 1 2; do
    unshare --net sleep 600 </dev/null >/dev/null &
    machines="$machines $!"
    until [ "$(readlink /proc/$!/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
    ip link add "m$n" type veth peer name eth0 netns "$!"
    ip addr add "10.7.$n.1/24" dev "m$n"
    ip link set "m$n" up
    nsenter -t "$!" --net sh -ec "ip addr add 10.7.$n.2/24 dev eth0; ip link set eth0 up"
done
redis-server --port 6379 --protected-mode no --save '' --appendonly no </dev/null >/dev/null &
redis=$!
until redis-cli -h 10.7.1.1 ping >/dev/null 2>&1; do sleep 0.05; done

echo "machines$machines"
while read -r word && [ "$word" = cut ]; do
    ip link set m1 down
    echo is cut
done
