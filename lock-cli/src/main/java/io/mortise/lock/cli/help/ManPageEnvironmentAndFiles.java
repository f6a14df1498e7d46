// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.help;

import java.util.LinkedHashMap;
import java.util.Map;

/** The texts of the manual page's ENVIRONMENT and FILES sections, which do not belong to a single command. */
final class ManPageEnvironmentAndFiles {
    static final Map<String, String> ENVIRONMENT = new LinkedHashMap<>();
    static final Map<String, String> FILES = new LinkedHashMap<>();

    static {
        ENVIRONMENT.put("MORTISE_URL", "The URL of the store, if --url is not given.");
        ENVIRONMENT.put(
                "MORTISE_CONFIG",
                "The properties file to read the URL from, instead of the file listed below; it must exist.");
        ENVIRONMENT.put("XDG_CONFIG_HOME", "The configuration folder to use instead of ~/.config.");
        ENVIRONMENT.put(
                "JAVA_HOME", "The Java installation to run with, version 17 or newer, instead of the one on the PATH.");
        ENVIRONMENT.put(
                "LOCK_NAME, LOCK_OWNER, LOCK_FENCING_TOKEN, LOCK_DEADLINE_MILLIS",
                "Set by lockctl run for the command that it starts. LOCK_DEADLINE_MILLIS is the end of the lease in Unix"
                        + " time, as of the start of the command.");
        FILES.put(
                "~/.config/mortise/lockctl.properties",
                "Contains url=URL, the URL of the store if neither --url nor MORTISE_URL is given. Put a URL that"
                        + " contains a password there, and make the file readable by its owner only: a command line is"
                        + " visible to every user of the machine.");
    }

    private ManPageEnvironmentAndFiles() {}
}
