// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.WrapperMutant.backend;
import static io.mortise.lock.proof.mutants.WrapperMutant.client;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.proof.mutants.WaitingMutants.ForwardingRequest;
import io.mortise.lock.proof.mutants.WrapperMutant.WrongBackend;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Deliberately defective backends and clients that keep data of unused names, or show wrong state to operators.
 *
 * <p>Rules S17, S18 and S19.
 */
final class OperatorMutants {
    private OperatorMutants() {}

    static List<WrapperMutant> all() {
        return List.of(
                backend(
                        "S17",
                        "a name stays in the store after its last use",
                        "S17_namesUsedOnceLeaveNothing",
                        OperatorMutants::keepsNames),
                client(
                        "S17",
                        "a client keeps a lock object for each name",
                        "S17_aClientKeepsNothingOfAnUnusedName",
                        OperatorMutants::keepsHandles),
                backend(
                        "S18",
                        "the holder is not shown",
                        "S18_statusShowsTheHolder",
                        status(seen -> new LockStatus(seen.name(), List.of(), seen.waiters()))),
                backend("S18", "metadata is not stored", "S18_statusShowsTheHolder", OperatorMutants::noMetadata),
                backend(
                        "S18",
                        "waiters are not shown",
                        "S18_statusShowsWaiters",
                        status(seen -> new LockStatus(seen.name(), seen.holders(), List.of()))),
                backend(
                        "S18",
                        "a forced release removes the grant of any holder",
                        "S18_aForcedReleaseRemovesOnlyTheGrantThatWasRead",
                        OperatorMutants::releasesAnyHolder),
                backend(
                        "S18",
                        "each page of a list omits its last lock",
                        "S18_listSupportsPagesAndPrefixes",
                        list(page -> page.next().isEmpty()
                                ? page
                                : new LockAdmin.Page(
                                        page.locks().subList(0, page.locks().size() - 1), page.next()))),
                backend(
                        "S18",
                        "a list ends after its first page",
                        "S18_listSupportsPagesAndPrefixes",
                        list(page -> new LockAdmin.Page(page.locks(), Optional.empty()))),
                backend(
                        "S18",
                        "a clock is read once and then cached",
                        "S18_reportedClocksAdvance",
                        admin(delegate -> new ForwardingAdmin(delegate) {
                            @Override
                            public CompletableFuture<Map<String, Instant>> clocks() {
                                return CompletableFuture.completedFuture(Map.of("store", Instant.EPOCH));
                            }
                        })),
                backend(
                        "S19",
                        "metadata is stored unescaped",
                        "S19_hostileMetadataIsShownAsItIsAndStoredAsOneLine",
                        OperatorMutants::storesUnescaped));
    }

    static WrongBackend admin(Function<LockAdmin, LockAdmin> wrong) {
        return (delegate, connection) -> new ForwardingBackend(delegate, connection) {
            @Override
            public Optional<LockAdmin> admin() {
                return delegate.admin().map(wrong);
            }
        };
    }

    private static WrongBackend status(Function<LockStatus, LockStatus> wrong) {
        return admin(delegate -> new ForwardingAdmin(delegate) {
            @Override
            public CompletableFuture<LockStatus> status(String name) {
                return super.status(name).thenApply(wrong);
            }
        });
    }

    static WrongBackend list(Function<LockAdmin.Page, LockAdmin.Page> wrong) {
        return admin(delegate -> new ForwardingAdmin(delegate) {
            @Override
            public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
                return super.list(prefix, limit, cursor).thenApply(wrong);
            }
        });
    }

    /** Like a store whose rows or parent nodes are never removed. */
    private static ForwardingBackend keepsNames(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            LockRequest request(LockRequest request) {
                connection.shared().put(request.name().value(), 0L);
                return request;
            }

            @Override
            public Optional<LockAdmin> admin() {
                return delegate.admin().map(admin -> new ForwardingAdmin(admin) {
                    @Override
                    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
                        return super.list(prefix, limit, cursor).thenApply(page -> {
                            List<LockStatus> all = new ArrayList<>(page.locks());
                            connection.shared().keySet().stream()
                                    .filter(name -> all.stream()
                                            .noneMatch(lock -> lock.name().equals(name)))
                                    .forEach(name -> all.add(new LockStatus(name, List.of(), List.of())));
                            return new Page(all, page.next());
                        });
                    }
                });
            }
        };
    }

    private static ForwardingBackend noMetadata(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            LockRequest request(LockRequest request) {
                LockHolder owner = OwnerRecordCodec.parse(request.ownerRecord(), OptionalLong.empty());
                return new ForwardingRequest(request) {
                    @Override
                    public String ownerRecord() {
                        return OwnerRecordCodec.encode(
                                attemptId(),
                                owner.host().orElseThrow(),
                                owner.pid().orElseThrow(),
                                owner.since().orElseThrow(),
                                Map.of());
                    }
                };
            }
        };
    }

    private static ForwardingBackend storesUnescaped(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            LockRequest request(LockRequest request) {
                LockHolder owner = OwnerRecordCodec.parse(request.ownerRecord(), OptionalLong.empty());
                StringBuilder naive = new StringBuilder(request.ownerRecord().replaceAll(" meta\\..*", ""));
                owner.metadata()
                        .forEach((key, value) ->
                                naive.append(" meta.").append(key).append('=').append(value));
                return new ForwardingRequest(request) {
                    @Override
                    public String ownerRecord() {
                        return naive.toString();
                    }
                };
            }
        };
    }

    private static ForwardingBackend releasesAnyHolder(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            public Optional<LockAdmin> admin() {
                return delegate.admin().map(admin -> new ForwardingAdmin(admin) {
                    @Override
                    public CompletableFuture<Boolean> forceRelease(String name, LockHolder seen) {
                        return super.forceRelease(name, seen)
                                .thenApply(done ->
                                        done || connection.store().faults().remove(name));
                    }
                });
            }
        };
    }

    private static LockClient keepsHandles(LockClient delegate) {
        return new ForwardingClient(delegate) {
            private final Map<String, DistributedLock> handles = new ConcurrentHashMap<>();

            @Override
            public DistributedLock named(String name, LockOptions options) {
                return handles.computeIfAbsent(name, unknown -> super.named(name, options));
            }
        };
    }
}
