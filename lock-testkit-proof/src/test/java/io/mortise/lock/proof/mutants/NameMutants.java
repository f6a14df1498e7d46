// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.Mutant.backend;
import static io.mortise.lock.proof.mutants.Mutant.client;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** What becomes of names and options: S13 and S14. */
final class NameMutants {
    private NameMutants() {}

    static List<Mutant> all() {
        return List.of(
                collides("case does not count", name -> name.toLowerCase(Locale.ROOT)),
                collides("names are trimmed", name -> name.isBlank() ? "blank" : name.trim()),
                collides("names are normalised", name -> Normalizer.normalize(name, Normalizer.Form.NFC)),
                collides("a name is cut where the store's column ends", name -> cut(name, 255)),
                collides("an escape that is not escaped itself", name -> name.replace("%2F", "/")),
                collides("slashes are cleaned up", name -> name.matches("/+") ? name : name.replaceAll("/+", "/")),
                client(
                        "S13",
                        "a name may look like the store's own queue nodes",
                        "S13_distinctNamesNeverCollide",
                        honest -> new Renaming(honest, name -> name.startsWith("lock-0") ? "lock-" : name)),
                backend(
                        "S13",
                        "operators see the names as they are stored",
                        "S13_operatorsSeeTheNamesAsTheyWereGiven",
                        (honest, connection) -> new ForwardingBackend(honest, connection) {
                            @Override
                            public Optional<LockAdmin> admin() {
                                return honest.admin().map(StoredNames::new);
                            }
                        }),
                backend(
                        "S19",
                        "a reason has the name as it was given",
                        "S19_whatIsSaidOfALockIsOneLineWhateverItsName",
                        NameMutants::rawReasons),
                client(
                        "S14",
                        "a name that is too long is cut",
                        "S14_badNamesAreRefused",
                        honest -> new Renaming(honest, name -> cut(name, 512), name -> cut(name, 512))),
                client(
                        "S14",
                        "a broken surrogate becomes a question mark",
                        "S14_badNamesAreRefused",
                        honest -> new Renaming(honest, NameMutants::asUtf8, NameMutants::asUtf8)),
                client(
                        "S14",
                        "a negative wait counts as none",
                        "S14_badDurationsAreRefused",
                        honest -> new ForwardingClient(honest) {
                            @Override
                            DistributedLock lock(DistributedLock honest) {
                                return new WaitsZeroInstead(honest, this::lease);
                            }
                        }),
                backend(
                        "S14",
                        "a lease duration is accepted and ignored",
                        "S14_perLockLeaseIsHonouredOrRefused",
                        (honest, connection) -> new ForwardingBackend(honest, connection) {
                            @Override
                            public Duration leaseDuration(Optional<Duration> asked) {
                                return honest.leaseDuration(Optional.empty());
                            }
                        }),
                client(
                        "S14",
                        "a lease duration is accepted though that is not claimed",
                        "S14_perLockLeaseIsHonouredOrRefused",
                        honest -> new Unclaimed(honest, Capability.PER_LOCK_LEASE)));
    }

    private static LockBackend rawReasons(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            ContenderListener heard(LockRequest request, ContenderListener core) {
                return new LossMutants.Forwarding(core) {
                    @Override
                    public void lost(LossReason reason) {
                        String name = request.name().value();
                        core.lost(new LossReason(reason.kind(), "\"" + name + "\": " + reason.detail()));
                    }
                };
            }
        };
    }

    private static Mutant collides(String defect, UnaryOperator<String> wrong) {
        return client("S13", defect, "S13_distinctNamesNeverCollide", honest -> new Renaming(honest, wrong));
    }

    private static String cut(String name, int length) {
        return name.length() <= length ? name : name.substring(0, length);
    }

    private static String asUtf8(String name) {
        return new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    /** Locks under other names than were asked for. Whoever asks still reads the name that he gave. */
    static final class Renaming extends ForwardingClient {
        private final UnaryOperator<String> wrong;
        private final UnaryOperator<String> shown;

        Renaming(LockClient honest, UnaryOperator<String> wrong) {
            this(honest, name -> new LockName(name).value(), wrong);
        }

        Renaming(LockClient honest, UnaryOperator<String> shown, UnaryOperator<String> wrong) {
            super(honest);
            this.shown = shown;
            this.wrong = wrong;
        }

        @Override
        public DistributedLock named(String name, LockOptions options) {
            String seen = shown.apply(name);
            return new ForwardingLock(honest.named(wrong.apply(seen), options), lease -> new ForwardingLease(lease) {
                @Override
                public String lockName() {
                    return seen;
                }
            });
        }
    }

    /** Does more than it says. */
    static final class Unclaimed extends ForwardingClient {
        private final Capability hidden;

        Unclaimed(LockClient honest, Capability hidden) {
            super(honest);
            this.hidden = hidden;
        }

        @Override
        public Set<Capability> capabilities() {
            EnumSet<Capability> claimed = EnumSet.copyOf(honest.capabilities());
            claimed.remove(hidden);
            return claimed;
        }
    }

    private static final class StoredNames extends ForwardingAdmin {
        StoredNames(LockAdmin honest) {
            super(honest);
        }

        @Override
        public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
            return honest.list(prefix, limit, cursor)
                    .thenApply(page -> new Page(
                            page.locks().stream()
                                    .map(lock -> new LockStatus(
                                            new LockName(lock.name()).escaped(), lock.holders(), lock.waiters()))
                                    .toList(),
                            page.next()));
        }
    }

    private static final class WaitsZeroInstead extends ForwardingLock {
        WaitsZeroInstead(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
            return super.tryAcquire(maxWait.isNegative() ? Duration.ZERO : maxWait);
        }

        @Override
        public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait) {
            return super.tryAcquireAsync(maxWait.isNegative() ? Duration.ZERO : maxWait);
        }
    }
}
