// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.Mutant.backend;
import static io.mortise.lock.proof.mutants.Mutant.client;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.proof.mutants.Mutant.WrongBackend;
import io.mortise.lock.proof.mutants.WaitingMutants.Forwarded;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.OwnerRecord;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** What is left in client and store, and what operators see and may do: S17, S18 and S19. */
final class OperatorMutants {
    private OperatorMutants() {}

    static List<Mutant> all() {
        return List.of(
                backend(
                        "S17",
                        "a name that was used once stays in the store",
                        "S17_namesUsedOnceLeaveNothing",
                        OperatorMutants::keepsNames),
                client(
                        "S17",
                        "a client keeps a handle for each name",
                        "S17_aClientKeepsNothingOfANameThatIsOver",
                        KeepsHandles::new),
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
                        "a forced release takes the lock from whoever holds it",
                        "S18_aForcedReleaseTouchesOnlyWhatWasSeen",
                        OperatorMutants::forcesAnybody),
                backend(
                        "S18",
                        "a page of a list swallows its last lock",
                        "S18_listGoesByPagesAndPrefix",
                        list(page -> page.next().isEmpty()
                                ? page
                                : new LockAdmin.Page(
                                        page.locks().subList(0, page.locks().size() - 1), page.next()))),
                backend(
                        "S18",
                        "a list ends after its first page",
                        "S18_listGoesByPagesAndPrefix",
                        list(page -> new LockAdmin.Page(page.locks(), Optional.empty()))),
                backend(
                        "S18",
                        "a clock that was read once is told for ever",
                        "S18_clocksThatAreToldGoOn",
                        admin(honest -> new ForwardingAdmin(honest) {
                            @Override
                            public CompletableFuture<Map<String, Instant>> clocks() {
                                return CompletableFuture.completedFuture(Map.of("store", Instant.EPOCH));
                            }
                        })),
                backend(
                        "S19",
                        "metadata is stored as it comes",
                        "S19_hostileMetadataIsShownAsItIsAndStoredAsOneLine",
                        OperatorMutants::storesAsItComes));
    }

    private static WrongBackend admin(Function<LockAdmin, LockAdmin> wrong) {
        return (honest, connection) -> new ForwardingBackend(honest, connection) {
            @Override
            public Optional<LockAdmin> admin() {
                return honest.admin().map(wrong);
            }
        };
    }

    private static WrongBackend status(Function<LockStatus, LockStatus> wrong) {
        return admin(honest -> new ForwardingAdmin(honest) {
            @Override
            public CompletableFuture<LockStatus> status(String name) {
                return super.status(name).thenApply(wrong);
            }
        });
    }

    private static WrongBackend list(Function<LockAdmin.Page, LockAdmin.Page> wrong) {
        return admin(honest -> new ForwardingAdmin(honest) {
            @Override
            public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
                return super.list(prefix, limit, cursor).thenApply(wrong);
            }
        });
    }

    /** A row, or a parent node, that nobody removes. */
    private static ForwardingBackend keepsNames(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            LockRequest asked(LockRequest request) {
                connection.shared().put(request.name().value(), 0L);
                return request;
            }

            @Override
            public Optional<LockAdmin> admin() {
                return honest.admin().map(admin -> new ForwardingAdmin(admin) {
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

    private static ForwardingBackend noMetadata(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            LockRequest asked(LockRequest request) {
                LockHolder told = OwnerRecord.parse(request.ownerRecord(), OptionalLong.empty());
                return new Forwarded(request) {
                    @Override
                    public String ownerRecord() {
                        return OwnerRecord.encode(
                                attemptId(),
                                told.host().orElseThrow(),
                                told.pid().orElseThrow(),
                                told.since().orElseThrow(),
                                Map.of());
                    }
                };
            }
        };
    }

    private static ForwardingBackend storesAsItComes(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            LockRequest asked(LockRequest request) {
                LockHolder told = OwnerRecord.parse(request.ownerRecord(), OptionalLong.empty());
                StringBuilder naive = new StringBuilder(request.ownerRecord().replaceAll(" meta\\..*", ""));
                told.metadata()
                        .forEach((key, value) ->
                                naive.append(" meta.").append(key).append('=').append(value));
                return new Forwarded(request) {
                    @Override
                    public String ownerRecord() {
                        return naive.toString();
                    }
                };
            }
        };
    }

    private static ForwardingBackend forcesAnybody(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            public Optional<LockAdmin> admin() {
                return honest.admin().map(admin -> new ForwardingAdmin(admin) {
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

    private static final class KeepsHandles extends ForwardingClient {
        private final Map<String, DistributedLock> handles = new ConcurrentHashMap<>();

        KeepsHandles(LockClient honest) {
            super(honest);
        }

        @Override
        public DistributedLock named(String name, LockOptions options) {
            return handles.computeIfAbsent(name, unknown -> super.named(name, options));
        }
    }
}
