// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example;

import io.mortise.lock.testkit.process.StdinWatchdog;

/** Main class that runs the examples for a test, and ends with the test's JVM. The examples' child processes do so anyway. */
public final class MainWithParent {
    private MainWithParent() {}

    public static void main(String[] args) {
        StdinWatchdog.install();
        ExamplesMain.main(args);
    }
}
