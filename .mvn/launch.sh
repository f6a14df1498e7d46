# SPDX-License-Identifier: Apache-2.0
# For the launchers at the root, which set $name (for messages), $what (is built), $root, $module and $jar before they read this,
# and $made_of: the modules whose sources are in the jar. Finds $java, and builds the jar if it is missing or older than those.

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

stale() {
    [ -f "$jar" ] || return 0
    set -- "$root/pom.xml"
    for part in $made_of; do
        set -- "$@" "$root/$part/pom.xml" "$root/$part/src/main"
    done
    find "$@" -newer "$jar" 2>/dev/null | grep -q .
}

if stale; then
    command -v mvn >/dev/null || fail "no Maven found, which the build needs: install version 3.8.7 or newer \
(Debian, Ubuntu: apt install maven; macOS: brew install maven)"
    if [ -f "$jar" ]; then why="sources have changed"; else why="first use"; fi
    echo "building $what ($why)..." >&2
    # What the build says matters only when it fails.
    log=$(cd "$root" && mvn -q -B -Dmaven.test.skip=true -Dmaven.javadoc.skip=true -Dmaven.source.skip=true \
        -Dspotless.check.skip=true -Djacoco.skip=true -pl "$module" -am package 2>&1) || {
        echo "$log" >&2
        fail "the build failed; its messages are above" 70
    }
    # Maven leaves a jar alone that would come out the same, such as after a change of a comment.
    touch "$jar"
fi
