// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.help;

import java.util.LinkedHashMap;
import java.util.Map;

/** Sections of the manual that do not belong to one command. */
final class ManPageSections {
    static final Map<String, String> ENVIRONMENT = new LinkedHashMap<>();
    static final Map<String, String> FILES = new LinkedHashMap<>();

    static {
        ENVIRONMENT.put("MORTISE_URL", "The store, where --url is not given.");
        ENVIRONMENT.put(
                "MORTISE_CONFIG", "The file to read the URL from, in place of the one below; it must be there.");
        ENVIRONMENT.put("XDG_CONFIG_HOME", "The folder in place of ~/.config.");
        ENVIRONMENT.put("JAVA_HOME", "The Java to run with, 17 or newer, in place of the one on the PATH.");
        ENVIRONMENT.put(
                "LOCK_NAME, LOCK_OWNER, LOCK_FENCING_TOKEN, LOCK_DEADLINE_MILLIS",
                "What run tells the command of its lock: the last is the end of the lease in Unix time as it was at the start.");
        FILES.put(
                "~/.config/mortise/lockctl.properties",
                "url=URL in it is the store, where neither --url nor MORTISE_URL is given. A URL with a password belongs there,"
                        + " readable by nobody else: on a command line, every user of the machine sees it.");
    }

    private ManPageSections() {}
}
