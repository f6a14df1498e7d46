@NullMarked
package io.mortise.lock.cli.bench;

import org.jspecify.annotations.NullMarked;
