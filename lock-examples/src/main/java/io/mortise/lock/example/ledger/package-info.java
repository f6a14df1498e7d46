// SPDX-License-Identifier: Apache-2.0
/** Several processes that write to one ledger file, with complete entries and without lost updates. */
@NullMarked
package io.mortise.lock.example.ledger;

import org.jspecify.annotations.NullMarked;
