// SPDX-License-Identifier: Apache-2.0
/**
 * Server programs as child processes: where they are, their ports, directories and certificates. For the packages of the stores.
 */
@NullMarked
package io.mortise.lock.servers.process;

import org.jspecify.annotations.NullMarked;
