// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;

/** Program that acquires and releases a lock in memory, for tests of other Java runtimes. */
final class LockProgram {
    private LockProgram() {}

    public static void main(String[] arguments) throws Exception {
        try (LockClient client = Locks.connect("memory:program")) {
            Lease lease = client.named("x").acquire();
            System.out.println(lease.release() + ", flight recorder: "
                    + ModuleLayer.boot().findModule("jdk.jfr").isPresent() + ", core: "
                    + LockClient.class.getModule());
        }
    }
}
