// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.example.ExamplesMain;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;

/** Runs a small demo against a running server, and checks its result. */
final class DemoByUrl {
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(50));

    private DemoByUrl() {}

    static void assertDemoSucceeds(String url) {
        assertDemoSucceeds(url, () -> {});
    }

    /**
     * Runs the demo and checks that all of its claims hold.
     *
     * @param url URL of the server
     * @param duringTheLockedRun action that runs once workers have sold under the lock, before they get more commands
     */
    static void assertDemoSucceeds(String url, Runnable duringTheLockedRun) {
        String small = url + (url.contains("?") ? "&" : "?") + "lease=3s";
        // Loads the store's client, which may take seconds on a busy machine; the demo itself uses short timeouts.
        Locks.connect(small, LONG_TIMEOUTS).close();
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        PrintWriter progress = new PrintWriter(err) {
            private boolean withLock;

            @Override
            public void println(String line) {
                super.println(line);
                if (withLock && line.endsWith(" sold")) {
                    withLock = false;
                    duringTheLockedRun.run();
                }
                withLock |= line.contains("items, with the lock");
            }
        };

        int code = ExamplesMain.run(
                new PrintWriter(out), progress, "demo", "--url", small, "--json", "--workers", "2", "--items", "3");

        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString())
                .startsWith("{\"ok\":true,\"failures\":[],\"url\":\"" + url)
                .contains("\"lateWriteRefused\":true,\"isHeldAfterwards\":false");
    }
}
