/** The command that benchmarks the user's own store. */
@NullMarked
package io.mortise.lock.cli.bench;

import org.jspecify.annotations.NullMarked;
