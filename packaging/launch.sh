# SPDX-License-Identifier: Apache-2.0
# Sourced by the launchers, which first set $name (for messages). Finds $java, and starts lockctl from a jar.

# If one of the first three descriptors is closed, the JVM opens a file of its own there, which a command that lockctl runs
# would then get as its input or output. A closed standard output is replaced by a read-only one, so that writing still fails.
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

# Takes as long as starting Java, so it is not called for each command. "17.0.15" and "25" are versions 17 and 25; "1.8.0_402"
# counts as version 1, which is too old.
check_java_version() {
    version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 17 ] || fail "$java is Java ${version:-unknown}: install version 17 or newer, or set JAVA_HOME to one"
}

# Sets $archive to the path of the class archive (ADR 0041) in the folder $1, without its extension, for this Java, $jar and the
# kind of store in the other arguments. Each kind of store has its own archive with the classes that it needs.
name_archive() {
    folder=$1
    shift
    kind=
    # Takes the first URL scheme. It may belong to the command that run starts; then the archive is less complete, but not wrong.
    urls="$* ${MORTISE_URL:-}"
    case $urls in *://*) kind=${urls%%://*} kind=${kind##*[!a-z+-]} ;; esac
    case $kind in
        redis* | redlock* | etcd* | zookeeper) ;;
        *)
            # The store is named in the properties file, or the command needs none.
            case ${1:-} in
                run | who | list | doctor | hold | watch | release | bench) kind=default ;;
                *) kind=none ;;
            esac
            ;;
    esac
    # The inode and the size tell different versions of Java and of the jar apart.
    archive=$folder/lockctl
    while read -r inode _ _ _ _ size _; do archive=$archive-$inode-$size; done <<FILES
$(ls -lLi "$java" "$jar" 2>/dev/null)
FILES
    archive=$archive-$kind
}

# The JVM writes the header last: a file that begins with zeros is incomplete.
is_complete() {
    [ -s "$1" ] || return 1
    differs=0
    cmp -s -n 4 "$1" /dev/zero || differs=$?
    [ "$differs" = 1 ] # 2 or more: there is no cmp, or it has no such option
}

# Succeeds if this lockctl may write $archive: only one within a minute, since several may start at once.
may_write_archive() {
    # Not for commands that a user ends or watches: writing the archive would delay their exit.
    case " $* " in *" hold "* | *" watch "* | *" release "* | *" bench "*) return 1 ;; esac
    [ -w "$folder" ] || return 1
    if [ -e "$archive.begun" ]; then find "$archive.begun" -mmin +1 -exec rm -f {} \; 2>/dev/null || true; fi
    (set -C && : >"$archive.begun") 2>/dev/null || return 1
    # Delete the archives of a jar that was replaced, or of a Java that is no longer used.
    find "$folder" \( -name 'lockctl-*.jsa' -o -name 'lockctl-*.aot' -o -name 'lockctl-*.aotconf' -o -name 'lockctl-*.begun' \) \
        \( ! -newer "$jar" -o -atime +30 \) -exec rm -f {} \; 2>/dev/null || true
}

# Java 25 and newer record what a command did when it exits. A later command creates the archive from the record before it starts, as
# Java reports the creation to the user. The command that moves the record away creates the archive.
make_aot_cache() {
    is_complete "$archive.aotconf" && mv "$archive.aotconf" "$archive.$$" 2>/dev/null || return 1
    if [ -t 2 ]; then echo "preparing lockctl for this Java..." >&2; fi
    "$java" -XX:AOTMode=create -XX:AOTConfiguration="$archive.$$" -XX:AOTCache="$archive.$$.aot" -XX:+UseSerialGC -cp "$jar" \
        </dev/null >/dev/null 2>&1 && mv -f "$archive.$$.aot" "$archive.aot" 2>/dev/null
    made=$?
    rm -f "$archive.$$" "$archive.$$.aot"
    return $made
}

# start_lockctl JAR FOLDER [ARGUMENT...]: starts lockctl, with class archives in FOLDER. Does not return.
start_lockctl() {
    jar=$1
    shift
    name_archive "$@"
    shift

    # Java cannot tell for a single stream whether it is a terminal.
    tty_out=false
    tty_err=false
    tty_in=false
    if [ "${TERM:-dumb}" != dumb ]; then
        if [ -t 1 ]; then tty_out=true; fi
        if [ -t 2 ]; then tty_err=true; fi
        if [ -t 0 ]; then tty_in=true; fi
    fi

    # The log is disabled, as users need no warnings about an archive that does not match or about classes that are left out.
    if is_complete "$archive.aot"; then
        set -- -XX:AOTCache="$archive.aot" -Xlog:disable -jar "$jar" "$@"
    elif is_complete "$archive.jsa"; then
        set -- -XX:SharedArchiveFile="$archive.jsa" -Xlog:disable -jar "$jar" "$@"
    elif make_aot_cache; then
        set -- -XX:AOTCache="$archive.aot" -Xlog:disable -jar "$jar" "$@"
    else
        check_java_version
        if ! may_write_archive "$@"; then
            set -- -jar "$jar" "$@"
        elif [ "$version" -lt 25 ]; then
            set -- -XX:ArchiveClassesAtExit="$archive.jsa" -Dlockctl.archive.at.exit=true -Xlog:disable -jar "$jar" "$@"
        else
            set -- -XX:AOTMode=record -XX:AOTConfiguration="$archive.aotconf" -XX:+UnlockDiagnosticVMOptions -XX:-DisplayVMOutput \
                -Dlockctl.archive.at.exit=true -Xlog:disable -jar "$jar" "$@"
        fi
    fi
    # Java 24 and newer warn of memory access by gRPC's libraries; for older versions the setting is just a system property.
    # A small young generation is reused while it is in the processor's cache: a tenth of the time of a short command.
    # UsePerfData is off, as nothing would delete the file for jps when lockctl exits without a JVM shutdown (ADR 0041).
    exec "$java" -XX:-UsePerfData -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmn8m -Xms24m -Dsun.misc.unsafe.memory.access=allow \
        -Dlockctl.terminal.out=$tty_out -Dlockctl.terminal.err=$tty_err -Dlockctl.terminal.in=$tty_in "$@"
}
