# SPDX-License-Identifier: Apache-2.0
# For the launchers at the root, which set $name (for messages), $what (is built), $root, $module and $jar before they read this,
# and $made_of: the modules whose sources are in the jar. Finds $java, and builds the jar if it is missing, one launcher at a time.
# A jar that is there is used, also an old one: whoever changes sources builds, and only a terminal is told.

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
# What Java makes of the jar to start fast from, for those launchers that have it made (ADR 0024). Another Java is another file of
# another size, and has another archive. One that has some was asked for its version then, which takes as long as starting it.
java_id=$(ls -lLi "$java" 2>/dev/null | awk '{ print $1 "-" $6 }')
archive=${jar%.jar}-$java_id.jsa

# "17.0.15" and "25" are versions 17 and 25, "1.8.0_402" is too old whatever follows.
if [ ! -e "$archive" ]; then
    version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 17 ] || fail "$java is Java ${version:-unknown}: install version 17 or newer, or set JAVA_HOME to one"
fi

# Held by the launcher that builds, at the root since all of them build the same modules.
lock=$root/.mvn/building.lock
# A jar beside this is half of one, or may be: its build has not ended, failed or was killed.
unfinished=$root/.mvn/building.$module

is_built() {
    [ -f "$jar" ] && [ ! -e "$unfinished" ]
}

# The jar is there, or this launcher makes it. Waits for another one that builds.
build_alone() {
    (: >>"$lock") 2>/dev/null || fail "$jar is missing, and $root cannot be written: build it as its owner"
    if command -v flock >/dev/null; then
        # Its Maven holds it too, so that nobody builds beside one that has outlived its launcher.
        exec 9>>"$lock"
        flock -n 9 || { echo "waiting for another launcher, which builds..." >&2 && flock 9; }
        is_built || build
        exec 9>&-
    else
        # Nobody takes the folder away from a dead one: two who did so at once would take it from each other.
        said=
        until mkdir "$lock.d" 2>/dev/null; do
            [ -n "$said" ] || echo "waiting for another launcher, which builds; if there is none, remove $lock.d" >&2
            said=yes
            sleep 1
        done
        trap 'rmdir "$lock.d"' EXIT
        trap 'exit 130' INT
        trap 'exit 143' TERM HUP
        is_built || build
        rmdir "$lock.d"
        trap - EXIT INT TERM HUP
    fi
}

build() {
    command -v mvn >/dev/null || fail "no Maven found, which the build needs: install version 3.8.7 or newer \
(Debian, Ubuntu: apt install maven; macOS: brew install maven)"
    echo "building $what (first use)..." >&2
    : >"$unfinished"
    # What the build says matters only when it fails.
    log=$(cd "$root" && mvn -q -B -Dmaven.test.skip=true -Dmaven.javadoc.skip=true -Dmaven.source.skip=true \
        -Dspotless.check.skip=true -Djacoco.skip=true -pl "$module" -am package 2>&1) || {
        echo "$log" >&2
        case $log in
            *"Could not create local repository"*)
                fail "Maven needs a home directory that can be written: build once as a user who has one, or set MAVEN_OPTS=-Dmaven.repo.local=FOLDER" 70 ;;
        esac
        fail "the build failed; its messages are above" 70
    }
    rm -f "$unfinished"
}

is_older_than_its_sources() {
    set -- "$root/pom.xml"
    for part in $made_of; do
        set -- "$@" "$root/$part/pom.xml" "$root/$part/src/main"
    done
    find "$@" -newer "$jar" 2>/dev/null | grep -q .
}

if ! is_built; then
    build_alone
elif [ -t 2 ] && is_older_than_its_sources; then
    echo "$name: the sources are newer than $jar; to build it: mvn -q -DskipTests -pl $module -am package" >&2
fi
