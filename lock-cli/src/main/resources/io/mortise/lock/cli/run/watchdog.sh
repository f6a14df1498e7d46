# SPDX-License-Identifier: Apache-2.0
# Kills a process group when lockctl is gone, or does not speak for longer than it said. The argument is the LOCK_OWNER of
# the command. Reads from lockctl, as often as the lease is renewed: the group, 0 if lockctl does not know it yet, and in how
# many seconds it is to be killed; and "done" in the end.
trap '' HUP INT QUIT TERM
owner=$1
group=0
alarm=

# Not told of the group: a command may run all the same, if lockctl was stopped or killed just when it had started it.
# More than once, since it may be on its way.
search() {
    for round in 1 2 3; do
        for environment in $(grep -lzx "LOCK_OWNER=$owner" /proc/[0-9]*/environ); do
            leader=${environment%/environ}
            kill -KILL "-${leader#/proc/}"
        done
        sleep 0.1
    done
}

end() {
    if [ "$group" = 0 ]; then search; else kill -KILL "-$group"; fi
}

disarm() {
    [ -z "$alarm" ] || { kill -USR1 "$alarm"; wait "$alarm"; }
}

while read -r told seconds && [ "$told" != done ]; do
    group=$told
    disarm
    (
        # Until the trap is set the signal ends this shell by itself: neither way a sleep is left.
        before=$!
        trap '[ "$!" = "$before" ] || kill -KILL "$!"; exit' USR1
        sleep "$seconds" &
        wait "$!"
        end
    ) &
    alarm=$!
done
[ "$told" = done ] || end
disarm
