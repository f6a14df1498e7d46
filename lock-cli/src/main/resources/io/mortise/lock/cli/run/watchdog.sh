# SPDX-License-Identifier: Apache-2.0
# Kills a process group when lockctl has ended, or has sent no new deadline in time. The argument is the LOCK_OWNER of the
# command. lockctl writes a line to standard input as often as the lease is renewed: the process group (0 if lockctl does not
# know it yet), and the number of seconds after which to kill it; "done" at the end.
trap '' HUP INT QUIT TERM
owner=$1
group=0
timer=

# Used while the group is unknown: if lockctl is stopped or killed just after it has started the command, the command runs
# although this script never received its group. Searches several times, since the command may still be starting.
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

cancel_timer() {
    [ -z "$timer" ] || { kill -USR1 "$timer"; wait "$timer"; }
}

while read -r received seconds && [ "$received" != done ]; do
    group=$received
    cancel_timer
    (
        # Before the trap is set, the signal simply ends this subshell. In both cases no sleep process remains.
        before=$!
        trap '[ "$!" = "$before" ] || kill -KILL "$!"; exit' USR1
        sleep "$seconds" &
        wait "$!"
        end
    ) &
    timer=$!
done
[ "$received" = done ] || end
cancel_timer
