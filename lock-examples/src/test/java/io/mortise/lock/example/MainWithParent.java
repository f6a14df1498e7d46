// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example;

import io.mortise.lock.testkit.process.StdinWatchdog;

/** The examples' command as tests start it: it never outlives the JVM that started it. Its own children see to that themselves. */
public final class MainWithParent {
    private MainWithParent() {}

    public static void main(String[] args) {
        StdinWatchdog.install();
        ExamplesMain.main(args);
    }
}
