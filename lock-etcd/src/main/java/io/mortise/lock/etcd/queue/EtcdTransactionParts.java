// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.OptionsUtil;
import io.etcd.jetcd.options.PutOption;

/** Creates the comparisons and operations that this backend's etcd transactions consist of. */
public final class EtcdTransactionParts {
    private static final GetOption KEY_ONLY =
            GetOption.builder().withKeysOnly(true).build();

    private EtcdTransactionParts() {}

    public static Cmp isAbsent(ByteSequence key) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
    }

    /** Returns a comparison that is true if the key exists and has not been created again since that revision. */
    public static Cmp hasCreateRevision(ByteSequence key, long revision) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
    }

    public static Cmp exists(ByteSequence key) {
        return new Cmp(key, Cmp.Op.GREATER, CmpTarget.createRevision(0));
    }

    public static Cmp hasValue(ByteSequence key, ByteSequence value) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.value(value));
    }

    public static Cmp isInEpoch(ByteSequence sessionKey, long epoch) {
        return new Cmp(sessionKey, Cmp.Op.EQUAL, CmpTarget.version(epoch));
    }

    public static Op put(ByteSequence key, ByteSequence value, long leaseId) {
        return Op.put(key, value, PutOption.builder().withLeaseId(leaseId).build());
    }

    public static Op get(ByteSequence key) {
        return Op.get(key, GetOption.DEFAULT);
    }

    public static Op getWithoutValue(ByteSequence key) {
        return Op.get(key, KEY_ONLY);
    }

    public static Op delete(ByteSequence key) {
        return Op.delete(key, DeleteOption.DEFAULT);
    }

    /** Returns the operation that deletes a key, with the key in its response. */
    public static Op deleteAndRead(ByteSequence key) {
        return Op.delete(key, DeleteOption.builder().withPrevKV(true).build());
    }

    /** Returns the operation that counts the contenders without reading them. */
    public static Op count(ByteSequence prefix) {
        return Op.get(prefix, withPrefix(prefix).withCountOnly(true).build());
    }

    /** Returns the operation that reads the first contender, which is the holder. */
    public static Op head(ByteSequence prefix) {
        return Op.get(
                prefix,
                withPrefix(prefix)
                        .withSortField(GetOption.SortTarget.CREATE)
                        .withSortOrder(GetOption.SortOrder.ASCEND)
                        .withLimit(1)
                        .withKeysOnly(true)
                        .build());
    }

    /**
     * Returns the operation that reads one contender created before that revision, if there is any. The server need not
     * sort the contenders for it.
     */
    public static Op anyBefore(ByteSequence prefix, long revision) {
        return Op.get(
                prefix,
                withPrefix(prefix)
                        .withMaxCreateRevision(revision - 1)
                        .withLimit(1)
                        .withKeysOnly(true)
                        .build());
    }

    private static GetOption.Builder withPrefix(ByteSequence prefix) {
        return GetOption.builder().withRange(OptionsUtil.prefixEndOf(prefix));
    }
}
