// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.admin;

import io.mortise.lock.LockHolder;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses a lock's holder and waiters from the reply of the script {@code shared/status}. */
public final class StatusReplyParser {
    private static final Pattern TOKEN = Pattern.compile(" token=(\\d{1,18})(?: row=\\d+:\\d+)?$");

    private StatusReplyParser() {}

    /** Returns the lock's holder, if there is one. */
    public static Optional<LockHolder> holder(List<Object> status) {
        String value = (String) status.get(0);
        return value.isEmpty()
                ? Optional.empty()
                : Optional.of(OwnerRecordCodec.parse(value.substring(1), token(value)));
    }

    private static OptionalLong token(String value) {
        Matcher matcher = TOKEN.matcher(value);
        return matcher.find() ? OptionalLong.of(Long.parseLong(matcher.group(1))) : OptionalLong.empty();
    }

    /** Returns the lock's waiters in the order of the queue. */
    public static List<LockHolder> waiters(List<Object> status) {
        return status.stream()
                .skip(1)
                .map(record -> OwnerRecordCodec.parse((String) record, OptionalLong.empty()))
                .toList();
    }
}
