/** The public testing surface: contracts that anybody's store can be held to, and the faults to hold it to them. */
export {
  type AdapterContractOptions,
  type AdapterServer,
  adapterContract,
  HTTP_RULES,
  type HttpRule,
  type HttpTestRunner,
  type SampleApp,
  type Serve,
} from './adapter-contract.ts'
export { type CommitFaults, commitFaults } from './commit-faults.ts'
export { faulty } from './faulty.ts'
export {
  type Armed,
  anyWire,
  type Fault as ConnectionFault,
  type FaultProxy,
  type FaultProxyOptions,
  type Flights,
  faultProxy,
  type Match,
  type Moment,
  postgresWire,
  type Wire,
} from './proxy.ts'
export type { Rule } from './store-contract/rule.ts'
export { STORE_RULES } from './store-contract/rules.ts'
export type {
  Behind,
  Capabilities,
  Effects,
  Fault,
  Faults,
  Make,
  Settings,
  Step,
  Subject,
} from './store-contract/subject.ts'
export { type ContractOptions, checkStore, type RuleResult, storeContract, type TestRunner } from './store-contract.ts'
