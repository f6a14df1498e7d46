// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

/** x. */
public enum Capability {
    /** y. */
    FENCING
}
