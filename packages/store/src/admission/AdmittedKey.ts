import type * as Scope from "@waybill/domain/account/Scope"
import type * as DomainName from "@waybill/domain/values/DomainName"
import type * as Id from "@waybill/domain/values/Id"

/** An API key by which a request was admitted. */
export interface AdmittedKey {
  readonly id: Id.ApiKeyId
  /** The account whose mail the key reads and sends: for a test key, its account's test account. */
  readonly account_id: Id.AccountId
  readonly scopes: ReadonlyArray<Scope.Scope>
  /** The only domain that the key may send from; null for all. */
  readonly domain: DomainName.DomainName | null
  /** The test clock that the mail of a test key lives on. */
  readonly test_clock?: Id.TestClockId
}
