// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer.redis;

import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/** The value of one key and its expiry. Immutable. */
public sealed interface StoredValue {
    /** Returns when the server drops the key, in ms of its clock; empty if the key stays. */
    OptionalLong expiresAt();

    /** Returns the same value with another expiry. */
    StoredValue expiringAt(OptionalLong expiresAt);

    /** A string. */
    record Text(String text, OptionalLong expiresAt) implements StoredValue {
        @Override
        public StoredValue expiringAt(OptionalLong at) {
            return new Text(text, at);
        }
    }

    /** A hash. */
    record Hash(Map<String, String> fields, OptionalLong expiresAt) implements StoredValue {
        @Override
        public StoredValue expiringAt(OptionalLong at) {
            return new Hash(fields, at);
        }

        /** Returns a copy of the fields that can be changed. */
        Map<String, String> copy() {
            return new TreeMap<>(fields);
        }
    }

    /** A sorted set: members and their scores. */
    record SortedSet(Map<String, Double> scores, OptionalLong expiresAt) implements StoredValue {
        @Override
        public StoredValue expiringAt(OptionalLong at) {
            return new SortedSet(scores, at);
        }

        /** Returns a copy of the scores that can be changed. */
        Map<String, Double> copy() {
            return new TreeMap<>(scores);
        }
    }
}
