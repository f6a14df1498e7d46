// SPDX-License-Identifier: Apache-2.0
/** For backends whose grants end with a session: the current session, who waits for it, and watches registered late. */
@NullMarked
package io.mortise.lock.spi.session;

import org.jspecify.annotations.NullMarked;
