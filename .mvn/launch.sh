# SPDX-License-Identifier: Apache-2.0
# Sourced by the launchers at the root, which first set $name (for messages), $what (what is built), $root, $module, $jar, and
# $made_of (the modules whose sources are in the jar). Sources packaging/launch.sh, and builds the jar if it is missing, one
# launcher at a time. An existing jar is used even if its sources are newer; on a terminal, a message says so.

. "$root/packaging/launch.sh"

# Locked by the launcher that builds. There is one lock for all launchers, since they build the same modules.
lock=$root/.mvn/building.lock
# While this file exists, the jar may be incomplete: its build is running, has failed or was killed.
unfinished=$root/.mvn/building.$module

is_built() {
    [ -f "$jar" ] && [ ! -e "$unfinished" ]
}

# Builds the jar, unless another launcher builds it; then waits for that one.
build_alone() {
    (: >>"$lock") 2>/dev/null || fail "$jar is missing, and $root is not writable: build it as its owner"
    if command -v flock >/dev/null; then
        # Maven inherits the lock, so that no other launcher builds while a Maven runs that has outlived its launcher.
        exec 9>>"$lock"
        flock -n 9 || { echo "waiting for another launcher, which is building..." >&2 && flock 9; }
        is_built || build
        exec 9>&-
    else
        # A launcher does not remove the folder of a killed one: otherwise two launchers could take the lock at once.
        reported=
        until mkdir "$lock.d" 2>/dev/null; do
            [ -n "$reported" ] || echo "waiting for another launcher, which is building; if there is none, remove $lock.d" >&2
            reported=yes
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
    # The output of the build is shown only if it fails.
    log=$(cd "$root" && mvn -q -B -Dmaven.test.skip=true -pl "$module" -am package 2>&1) || {
        echo "$log" >&2
        case $log in
            *"Could not create local repository"*)
                fail "Maven needs a writable home directory: build once as a user who has one, or set MAVEN_OPTS=-Dmaven.repo.local=FOLDER" 70 ;;
        esac
        fail "the build failed; see its messages above" 70
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

# lockctl checks the version itself, and only if it has no class archive for this Java.
if [ "$name" != lockctl ] || ! is_built; then
    check_java_version
fi
if ! is_built; then
    build_alone
elif [ -t 2 ] && is_older_than_its_sources; then
    echo "$name: the sources are newer than $jar; to rebuild it: mvn -q -DskipTests -pl $module -am package" >&2
fi
