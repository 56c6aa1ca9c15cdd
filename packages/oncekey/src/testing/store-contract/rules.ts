/** The whole store contract, in the order in which a reader would ask. */
import { adminRules } from './admin.ts'
import { claimRules } from './claims.ts'
import { crowdRules } from './crowds.ts'
import { endRules } from './ends.ts'
import { failureRules } from './failures.ts'
import { identityRules } from './identity.ts'
import { leaseRules } from './leases.ts'
import { receiptRules } from './receipts.ts'
import { replyRules } from './replies.ts'
import { restoreRules } from './restores.ts'
import { retentionRules } from './retention.ts'
import type { Rule } from './rule.ts'
import { stateRules } from './states.ts'
import { transactionModeRules } from './transaction.ts'
import { transactionRules } from './transactions.ts'

export const STORE_RULES: readonly Rule[] = [
  ...stateRules,
  ...claimRules,
  ...endRules,
  ...retentionRules,
  ...leaseRules,
  ...replyRules,
  ...receiptRules,
  ...failureRules,
  ...identityRules,
  ...transactionRules,
  ...transactionModeRules,
  ...crowdRules,
  ...adminRules,
  ...restoreRules,
]
