# SPDX-License-Identifier: Apache-2.0
# For the launchers at the root, which set $name (for messages), $what (is built), $root, $module and $jar before they read this,
# and $made_of: the modules whose sources are in the jar. Reads packaging/launch.sh, and builds the jar if it is missing, one launcher at a time.
# A jar that is there is used, also an old one: whoever changes sources builds, and only a terminal is told.

. "$root/packaging/launch.sh"

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

# lockctl checks it only where it has no class archive for this Java.
if [ "$name" != lockctl ] || ! is_built; then
    check_java_version
fi
if ! is_built; then
    build_alone
elif [ -t 2 ] && is_older_than_its_sources; then
    echo "$name: the sources are newer than $jar; to build it: mvn -q -DskipTests -pl $module -am package" >&2
fi
