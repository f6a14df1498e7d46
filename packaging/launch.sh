# SPDX-License-Identifier: Apache-2.0
# Read by the launchers, which set $name (for messages) before: finds $java, and starts lockctl from a jar.

# Where one of the first three descriptors is closed Java would open a file of its own, which a command that lockctl runs would then
# have for its input or output. Standard output cannot be written to then either, so that this is not taken for success.
true 3>&2 || exec 2>/dev/null
{ true 3<&0; } 2>/dev/null || exec </dev/null
{ true 3>&1; } 2>/dev/null || exec 1</dev/null

fail() {
    echo "$name: $1" >&2
    exit "${2:-69}"
}

if [ -n "${JAVA_HOME:-}" ] && [ -x "$JAVA_HOME/bin/java" ]; then
    java=$JAVA_HOME/bin/java
else
    java=$(command -v java) || fail "no Java found: install a JDK of version 17 or newer \
(Debian, Ubuntu: apt install openjdk-17-jdk; macOS: brew install openjdk@17) or set JAVA_HOME"
fi

# Takes as long as starting Java: not for each command. "17.0.15" and "25" are versions 17 and 25, "1.8.0_402" is too old whatever follows.
check_java_version() {
    version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 17 ] || fail "$java is Java ${version:-unknown}: install version 17 or newer, or set JAVA_HOME to one"
}

# Sets $archive to the file of the class archive (ADR 0041) in the folder $1, for this Java, $jar and the kind of store that the other
# arguments name: each kind has an archive of the classes that it needs.
name_archive() {
    folder=$1
    shift
    kind=
    # The first scheme that there is. A command that run starts may contain another: its archive is less complete then, not wrong.
    urls="$* ${MORTISE_URL:-}"
    case $urls in *://*) kind=${urls%%://*} kind=${kind##*[!a-z+-]} ;; esac
    case $kind in
        redis* | redlock* | etcd* | zookeeper) ;;
        *)
            # The store of the file with the settings, or none.
            case ${1:-} in
                run | who | list | doctor | hold | watch | release | bench) kind=default ;;
                *) kind=none ;;
            esac
            ;;
    esac
    # Another Java or another jar is another file of another size.
    archive=$folder/lockctl$(ls -lLi "$java" "$jar" 2>/dev/null | awk '{ printf "-%s-%s", $1, $6 }')-$kind.jsa
}

# Java writes the beginning last: a file that begins with zeros was not finished.
is_complete() {
    [ -s "$1" ] && [ -n "$(head -c 4 "$1" | tr -d '\000')" ]
}

# Whether this lockctl is to write $archive when it ends: not twice within a minute, since several may start at once.
may_write_archive() {
    # A short command, or the one that scripts call: nobody waits for the end of the others with patience.
    case " $* " in *" hold "* | *" watch "* | *" release "* | *" bench "*) return 1 ;; esac
    [ -w "$folder" ] || return 1
    if [ -e "$archive.begun" ]; then find "$archive.begun" -mmin +1 -exec rm -f {} \; 2>/dev/null || true; fi
    (set -C && : >"$archive.begun") 2>/dev/null || return 1
    # Those of a jar that was replaced, or of a Java that is not used any more.
    find "$folder" -name 'lockctl-*.jsa*' \( ! -newer "$jar" -o -atime +30 \) -exec rm -f {} \; 2>/dev/null || true
}

# start_lockctl JAR FOLDER [ARGUMENT...]: FOLDER is for the class archives. Does not return.
start_lockctl() {
    jar=$1
    shift
    name_archive "$@"
    shift

    # Only the shell can tell a terminal from a pipe.
    tty_out=false
    tty_err=false
    tty_in=false
    if [ "${TERM:-dumb}" != dumb ]; then
        if [ -t 1 ]; then tty_out=true; fi
        if [ -t 2 ]; then tty_err=true; fi
        if [ -t 0 ]; then tty_in=true; fi
    fi

    # What Java would say about an archive that does not fit, or about classes that it leaves out, is nobody's concern.
    if is_complete "$archive"; then
        set -- -XX:SharedArchiveFile="$archive" -Xlog:disable -jar "$jar" "$@"
    else
        check_java_version
        if may_write_archive "$@"; then
            set -- -XX:ArchiveClassesAtExit="$archive" -Dlockctl.archive.at.exit=true -Xlog:disable -jar "$jar" "$@"
        else
            set -- -jar "$jar" "$@"
        fi
    fi
    # Java 24 and newer warn of what gRPC's parts do, which an older one takes for a property like any other.
    # Without the file by which jps finds a Java: nothing would remove it where lockctl ends at once (ADR 0041).
    exec "$java" -XX:-UsePerfData -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Dsun.misc.unsafe.memory.access=allow \
        -Dlockctl.terminal.out=$tty_out -Dlockctl.terminal.err=$tty_err -Dlockctl.terminal.in=$tty_in "$@"
}
