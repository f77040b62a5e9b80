import { exampleOf } from "./exampleOf.ts"
import type { Contract, Operation } from "./Contract.ts"

/** Returns a request for curl. The address of the service is filled in by the page. */
export const curlOf = (contract: Contract, method: string, path: string, operation: Operation): string => {
  const parts = [`curl${method === "GET" ? "" : ` -X ${method}`} ${ORIGIN}${path}`]
  if ((operation.security ?? []).length > 0) parts.push(`-H 'Authorization: Bearer $WAYBILL_KEY'`.replaceAll("'", '"'))
  const body = operation.requestBody?.content["application/json"]
  if (body !== undefined) {
    parts.push(`-H "Content-Type: application/json"`)
    const json = JSON.stringify(exampleOf(contract, body.schema), null, 2)
    parts.push(`-d '${json.replaceAll("'", String.raw`'\''`)}'`)
  }
  return parts.join(" \\\n  ")
}

/** Stands for the address of the service in the samples. */
export const ORIGIN = "https://waybill.example"
