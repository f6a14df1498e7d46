// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The measured offset of a server's wall clock from the clock of this machine.
 *
 * @param ahead the offset; negative if the server's clock is behind
 * @param error the maximum error of the offset: the clock was read at some time between the request and the reply
 */
record ServerClockOffset(String server, Duration ahead, Duration error) {
    private static final int READINGS = 5;
    private static final Duration TOLERANCE = Duration.ofSeconds(1);

    /** Measures all servers that report their time; of several readings, the one with the shortest round trip counts. */
    static List<ServerClockOffset> measure(LockAdmin admin) throws InterruptedException {
        Map<String, ServerClockOffset> best = new TreeMap<>();
        for (int i = 0; i < READINGS; i++) {
            Instant before = Instant.now();
            Map<String, Instant> clocks = AdminCommand.await(admin.clocks());
            Duration half = Duration.between(before, Instant.now()).dividedBy(2);
            clocks.forEach((server, shown) -> best.merge(
                    server,
                    new ServerClockOffset(server, Duration.between(before.plus(half), shown), half),
                    (one, other) -> one.error.compareTo(other.error) <= 0 ? one : other));
        }
        return new ArrayList<>(best.values());
    }

    String text() {
        return HolderFormat.safe(server) + ": " + millis(ahead.abs()) + " ms "
                + (ahead.isNegative() ? "behind" : "ahead of") + " this machine's, within " + millis(error) + " ms";
    }

    Optional<Finding> finding() {
        if (ahead.abs().minus(error).compareTo(TOLERANCE) <= 0) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Severity.WARNING,
                "the clock of " + server + " is " + ahead.abs().toSeconds() + " s "
                        + (ahead.isNegative() ? "behind" : "ahead of")
                        + " this machine's: after a loss of data, fencing tokens may decrease, and \"since\" times cannot be"
                        + " compared",
                "synchronize both clocks with the same time source (NTP), and never step a clock forward"));
    }

    Map<String, Object> json() {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("server", server);
        object.put("aheadMillis", Double.valueOf(millis(ahead)));
        object.put("withinMillis", Double.valueOf(millis(error)));
        return object;
    }

    private static String millis(Duration duration) {
        return String.format(Locale.ROOT, "%.3f", duration.toNanos() / 1e6);
    }
}
