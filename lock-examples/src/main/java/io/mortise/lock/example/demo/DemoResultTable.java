// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.time.Duration;

/** Formats the demo's result as a text table, in plain ASCII for any terminal and log. */
final class DemoResultTable {
    private DemoResultTable() {}

    static String of(OverallDemoResult result) {
        DemoRunResult without = result.without();
        DemoRunResult with = result.with();
        StringBuilder out = new StringBuilder();
        row(out, "", "without lock", "with lock");
        row(out, "sales acknowledged", without.sold(), with.sold());
        row(out, "stock removed", without.removed(), with.removed());
        row(out, "updates lost", without.lost(), with.lost());
        row(out, "hand-offs between workers", "-", with.handOffs());
        row(out, "tokens in order", "-", with.tokensInOrder() ? "yes" : "NO");
        row(out, "late writes refused", "-", with.refused());
        row(out, "recovery, holder killed", "-", time(result.kill().recovery()));
        row(out, "recovery, holder frozen", "-", time(result.frozen().recovery()));
        out.append('\n');
        if (result.ok()) {
            out.append("All checks passed, in ").append(time(result.took())).append(".\n");
        }
        result.failures()
                .forEach(failure -> out.append("FAILED: ").append(failure).append('\n'));
        return out.toString();
    }

    private static String time(Duration duration) {
        return ProgressPrinter.seconds(duration);
    }

    private static void row(StringBuilder out, String label, Object without, Object with) {
        out.append(String.format("%-26s%14s%14s", label, without, with)).append('\n');
    }
}
