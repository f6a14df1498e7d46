// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.options.OptionsUtil;
import io.mortise.lock.spi.LockName;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Defines the names of the etcd keys of locks and sessions. The keys of a lock's contenders start with its name and a
 * slash, as with {@code etcdctl lock}. Mortise's other keys start with a percent sign and letters that cannot follow it in
 * an escaped name (S13).
 */
public final class EtcdKeyLayout {
    private static final String SESSION = "%session/";

    private final String namespace;

    public EtcdKeyLayout(String namespace) {
        this.namespace = namespace;
    }

    /** Returns the common prefix of the keys of this lock's contenders. */
    public String contenderPrefix(LockName name) {
        return namespace + name.escaped() + "/";
    }

    /**
     * Returns the key of one of this client's contenders. The next contender in the same slot uses the key again: keys that
     * are used only once leave old revisions that each read of the queue walks over, until the store compacts its history.
     *
     * @param contenderPrefix the common prefix of the lock's contenders
     * @param leaseId the session's lease
     * @param slot from 0, less than the number of contenders of this client for this lock
     * @param series the session's key series; each series has different keys
     */
    public static ByteSequence contenderKey(String contenderPrefix, long leaseId, int slot, int series) {
        String key = contenderPrefix + Long.toHexString(leaseId);
        if (series != 0) {
            return bytes(key + "-" + slot + "." + series);
        }
        return bytes(slot == 0 ? key : key + "-" + slot);
    }

    /** Returns the key of a session, which the server deletes with the lease. */
    public ByteSequence sessionKey(long leaseId) {
        return bytes(namespace + SESSION + Long.toHexString(leaseId));
    }

    /** Returns the lowest key of the namespace. */
    public ByteSequence first() {
        return bytes(namespace.isEmpty() ? "\0" : namespace);
    }

    /** Returns the end of the namespace, exclusive. */
    public ByteSequence end() {
        return OptionsUtil.prefixEndOf(bytes(namespace));
    }

    /** Returns the lowest key of the locks whose names have this prefix. */
    public ByteSequence firstWithPrefix(String namePrefix) {
        return namePrefix.isEmpty() ? first() : bytes(namespace + new LockName(namePrefix).escaped());
    }

    /** Returns the lowest key after all contenders of this lock. */
    public ByteSequence afterLock(String name) {
        return OptionsUtil.prefixEndOf(bytes(contenderPrefix(new LockName(name))));
    }

    /** Returns the lock to which a contender's key belongs; empty for any other key. */
    public Optional<String> lockName(String key) {
        int slash = key.indexOf('/', namespace.length());
        if (!key.startsWith(namespace) || slash < 0) {
            return Optional.empty();
        }
        return LockName.ofEscaped(key.substring(namespace.length(), slash)).map(LockName::value);
    }

    public static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }
}
