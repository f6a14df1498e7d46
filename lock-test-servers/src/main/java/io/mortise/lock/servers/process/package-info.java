// SPDX-License-Identifier: Apache-2.0
/**
 * Servers as child processes or in containers, with their ports, directories and certificates. Used by the packages for the
 * single stores.
 */
@NullMarked
package io.mortise.lock.servers.process;

import org.jspecify.annotations.NullMarked;
