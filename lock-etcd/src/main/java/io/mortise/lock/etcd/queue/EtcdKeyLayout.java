// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.options.OptionsUtil;
import io.mortise.lock.spi.LockName;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Names of the keys of locks and sessions. A lock's contenders are the keys under its name and a slash, as {@code etcdctl
 * lock} has them. Mortise's own keys begin with a percent sign and letters that no escaped name can have there (S13).
 */
public final class EtcdKeyLayout {
    private static final String SESSION = "%session/";

    private final String namespace;

    public EtcdKeyLayout(String namespace) {
        this.namespace = namespace;
    }

    /** What all contenders' keys of this lock begin with. */
    public String contenders(LockName name) {
        return namespace + name.escaped() + "/";
    }

    /**
     * One contender of ours. Its key is used again by the next one in the same slot: keys that are used once leave traces that
     * each read of the queue walks over, until the store compacts its history.
     *
     * @param slot from 0, less than the number of contenders of this client for this lock
     * @param series of the session: another one makes other keys
     */
    public static ByteSequence contender(String contenders, long leaseId, int slot, int series) {
        String key = contenders + Long.toHexString(leaseId);
        if (series != 0) {
            return bytes(key + "-" + slot + "." + series);
        }
        return bytes(slot == 0 ? key : key + "-" + slot);
    }

    /** The key of a session, which ends with its lease. */
    public ByteSequence session(long leaseId) {
        return bytes(namespace + SESSION + Long.toHexString(leaseId));
    }

    /** Before all there is. */
    public ByteSequence first() {
        return bytes(namespace.isEmpty() ? "\0" : namespace);
    }

    /** After all there is. */
    public ByteSequence end() {
        return OptionsUtil.prefixEndOf(bytes(namespace));
    }

    /** Where the locks begin whose names do so. */
    public ByteSequence from(String namePrefix) {
        return namePrefix.isEmpty() ? first() : bytes(namespace + new LockName(namePrefix).escaped());
    }

    /** After all contenders of this lock. */
    public ByteSequence after(String name) {
        return OptionsUtil.prefixEndOf(bytes(contenders(new LockName(name))));
    }

    /** The lock that a contender's key is for; empty for any other key. */
    public Optional<String> lockName(String key) {
        int slash = key.indexOf('/', namespace.length());
        if (!key.startsWith(namespace) || slash < 0) {
            return Optional.empty();
        }
        String escaped = key.substring(namespace.length(), slash);
        try {
            LockName name = new LockName(LockName.unescape(escaped));
            return name.escaped().equals(escaped) ? Optional.of(name.value()) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // one of our own, or somebody else's
        }
    }

    public static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }
}
