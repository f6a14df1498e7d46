// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Describes the hardware, operating system and JVM on which a benchmark runs.
 *
 * @param mortise version of Mortise
 * @param cores number of processors available to the JVM
 * @param jdk name and version of the JVM
 * @param os name, version and architecture of the operating system
 * @param load system load average of the minute before the run; negative if unavailable
 */
public record MachineDescription(String mortise, int cores, String jdk, String os, double load) {
    /** Returns the description of this machine with its current load. */
    public static MachineDescription here(String mortise) {
        return new MachineDescription(
                mortise,
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.vm.name") + " " + Runtime.version(),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("mortise", mortise);
        json.put("cores", cores);
        json.put("jdk", jdk);
        json.put("os", os);
        json.put("loadBefore", load);
        return json;
    }

    @Override
    public String toString() {
        String busy = load < 0 ? "" : String.format(Locale.ROOT, ", load before %.1f", load);
        return "Mortise " + mortise + ", " + cores + " cores" + busy + "\n" + jdk + ", " + os;
    }
}
