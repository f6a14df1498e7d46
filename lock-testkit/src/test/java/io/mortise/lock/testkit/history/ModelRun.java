// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Generates a random history of a correct lock whose processes are frozen, cut off and killed. */
final class ModelRun {
    static final HistoryCheckTolerances LIMITS = HandwrittenHistory.LIMITS;
    private static final int PROCESSES = 4;
    private static final long END = 15_000_000_000L;
    private static final long FAR_TOO_LATE = 10 * END;

    private ModelRun() {}

    static List<HistoryEvent> events(long seed) {
        Random random = new Random(seed);
        List<HistoryEvent> events = new ArrayList<>();
        ModelLock lock = new ModelLock();
        List<ModelProcess> processes = new ArrayList<>();
        int started = 0;
        long now = 0;
        while (true) {
            while (processes.stream().filter(process -> !process.isDead()).count() < PROCESSES) {
                processes.add(new ModelProcess("p" + started++, lock, random, events));
            }
            for (ModelProcess process : processes) {
                now += 500_000 + random.nextInt(4_000_000);
                process.step(now, now > END);
            }
            if (now > END && processes.stream().allMatch(ModelProcess::isIdle)) {
                return events;
            }
            if (now > FAR_TOO_LATE) {
                throw new AssertionError("the model does not terminate");
            }
        }
    }
}
