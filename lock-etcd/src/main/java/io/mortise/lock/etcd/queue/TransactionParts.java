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

/** Comparisons and operations of which the transactions are made. */
public final class TransactionParts {
    private static final GetOption KEY_ONLY =
            GetOption.builder().withKeysOnly(true).build();

    private TransactionParts() {}

    public static Cmp isAbsent(ByteSequence key) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
    }

    /** It is there, and was not made anew since. */
    public static Cmp isFrom(ByteSequence key, long revision) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
    }

    public static Cmp isThere(ByteSequence key) {
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

    /** How many contenders there are: counted without being read. */
    public static Op count(ByteSequence prefix) {
        return Op.get(prefix, beginningWith(prefix).withCountOnly(true).build());
    }

    /** The contender that came first: the holder. */
    public static Op head(ByteSequence prefix) {
        return Op.get(
                prefix,
                beginningWith(prefix)
                        .withSortField(GetOption.SortTarget.CREATE)
                        .withSortOrder(GetOption.SortOrder.ASCEND)
                        .withLimit(1)
                        .withKeysOnly(true)
                        .build());
    }

    /** A contender that came before that revision; nothing if there is none. The server need not sort them for that. */
    public static Op ahead(ByteSequence prefix, long revision) {
        return Op.get(
                prefix,
                beginningWith(prefix)
                        .withMaxCreateRevision(revision - 1)
                        .withLimit(1)
                        .withKeysOnly(true)
                        .build());
    }

    private static GetOption.Builder beginningWith(ByteSequence prefix) {
        return GetOption.builder().withRange(OptionsUtil.prefixEndOf(prefix));
    }
}
