// SPDX-License-Identifier: Apache-2.0
/** Processes that write to one file, where each record is whole and no update is lost. */
@NullMarked
package io.mortise.lock.example.ledger;

import org.jspecify.annotations.NullMarked;
