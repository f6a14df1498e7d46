// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.Arrays;
import java.util.Optional;

/**
 * The optional hooks of a backend under test; each constant describes the defects that the tests cannot detect if the hook is
 * not implemented.
 */
public enum Hook {
    LINK(
            "Faults.link",
            "a lease that outlives its holder's silence, a grant left behind by a lost reply, a waiter that a cut forgets"),
    EXPIRE_SESSION(
            "Faults.expireSession",
            "a loss that the holder is never told, a renewal that revives an expired grant, a release that frees the successor's lock"),
    DELETE_GRANT(
            "Faults.deleteGrant",
            "a holder that never learns of a deletion, a release that removes the successor's grant, a renewal that recreates the entry"),
    STOP_SERVER(
            "Faults.stopServer",
            "tokens that restart after a restart of the store, waiters that do not come back, a close that hangs"),
    REQUESTS(
            "BackendUnderTest.requests",
            "polling waiters, a check of isHeld() that asks the store, an attempt that sends many requests"),
    URL(
            "BackendUnderTest.url",
            "a process that is frozen and believes in its lease afterwards, a killed holder that is never replaced"),
    ADMIN(
            "LockClient.admin",
            "holders and waiters that operators cannot see, keys that stay in the store after the last release");

    private final String method;
    private final String hiddenDefects;

    Hook(String method, String hiddenDefects) {
        this.method = method;
        this.hiddenDefects = hiddenDefects;
    }

    /** Returns the method to implement, such as {@code Faults.link}. */
    public String method() {
        return method;
    }

    /** Returns the name by which a strict run accepts that the hook is missing, such as {@code link}. */
    public String shortName() {
        return method.substring(method.indexOf('.') + 1);
    }

    /** Returns examples of the defects that the kit cannot find without the hook. */
    public String hiddenDefects() {
        return hiddenDefects;
    }

    /** Returns the hook that the text names, such as "Faults.link is not implemented"; empty if it names none. */
    static Optional<Hook> namedIn(String text) {
        return Arrays.stream(values())
                .filter(hook -> text.contains(hook.method()) || (hook == ADMIN && text.contains("LockAdmin")))
                .findFirst();
    }
}
