// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

/** Counts what the workers say in one run; what the file says is counted by the file. */
final class Tally {
    private long sold;
    private long refusedHolders;

    void count(Message message) {
        if (message instanceof Message.Sold) {
            sold++;
        } else if (message instanceof Message.Refused refused && refused.held()) {
            refusedHolders++;
        }
    }

    /** Acknowledged sales. */
    long sold() {
        return sold;
    }

    /** Holders in good standing whose token was too low all the same. */
    long refusedHolders() {
        return refusedHolders;
    }
}
