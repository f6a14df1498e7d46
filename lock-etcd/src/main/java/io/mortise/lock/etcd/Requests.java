// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;

/** The parts of which transactions are made. */
final class Requests {
    private static final GetOption KEY_ONLY =
            GetOption.builder().withKeysOnly(true).build();

    private Requests() {}

    static Cmp[] absent(ByteSequence key) {
        return new Cmp[] {isAbsent(key)};
    }

    static Cmp isAbsent(ByteSequence key) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
    }

    /** It is there, and was not made anew since. */
    static Cmp isFrom(ByteSequence key, long revision) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
    }

    static Cmp isThere(ByteSequence key) {
        return new Cmp(key, Cmp.Op.GREATER, CmpTarget.createRevision(0));
    }

    static Cmp hasValue(ByteSequence key, ByteSequence value) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.value(value));
    }

    static Cmp isInEpoch(ByteSequence sessionKey, long epoch) {
        return new Cmp(sessionKey, Cmp.Op.EQUAL, CmpTarget.version(epoch));
    }

    static Op put(ByteSequence key, ByteSequence value, long leaseId) {
        return Op.put(key, value, PutOption.builder().withLeaseId(leaseId).build());
    }

    static Op sessionKey(ByteSequence key, long leaseId, String clientId) {
        return put(key, EtcdKeys.bytes("client=" + clientId), leaseId);
    }

    static Op get(ByteSequence key) {
        return Op.get(key, GetOption.DEFAULT);
    }

    static Op getWithoutValue(ByteSequence key) {
        return Op.get(key, KEY_ONLY);
    }

    static Op delete(ByteSequence key) {
        return Op.delete(key, DeleteOption.DEFAULT);
    }

    /** How many contenders there are: counted without being read. */
    static Op count(ByteSequence range, ByteSequence rangeEnd) {
        return Op.get(
                range,
                GetOption.builder().withRange(rangeEnd).withCountOnly(true).build());
    }

    /** The contender that came first: the holder. */
    static Op head(ByteSequence range, ByteSequence rangeEnd) {
        return Op.get(
                range,
                GetOption.builder()
                        .withRange(rangeEnd)
                        .withSortField(GetOption.SortTarget.CREATE)
                        .withSortOrder(GetOption.SortOrder.ASCEND)
                        .withLimit(1)
                        .withKeysOnly(true)
                        .build());
    }
}
