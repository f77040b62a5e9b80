import { customer, type Group, operator } from "./Bound.ts"

const MASKED_BODY = "apps/server/src/requestLog/maskedBody.ts"
const LOG_BOUNDS = "packages/store/src/requests/RequestLogBounds.ts"
const COUNTED = "not logged, counted"

/** Bounds of what the request log keeps. */
export const requestLogBounds: Group = {
  title: "Request log",
  bounds: [
    customer("A body in the request log", "MAX_LOGGED_BODY_BYTES", MASKED_BODY, "cut"),
    customer("An answer in the request log", "MAX_LOGGED_ANSWER_BYTES", MASKED_BODY, "cut"),
    customer(
      "Recipients by which a refused request is found",
      "MAX_RECIPIENTS",
      "packages/store/src/requests/RequestRecipients.ts",
      "others do not find it",
    ),
    customer(
      "Rows of a key or member in the request log per day (UTC), half of them for refused calls only",
      "MAX_KEY_ROWS_PER_DAY",
      LOG_BOUNDS,
      COUNTED,
    ),
    customer("Bytes of a key or member in the request log per day", "MAX_KEY_BYTES_PER_DAY", LOG_BOUNDS, COUNTED),
    customer(
      "Rows of an account in the request log per day, half of them for refused calls only",
      "MAX_ACCOUNT_ROWS_PER_DAY",
      LOG_BOUNDS,
      COUNTED,
    ),
    customer("Bytes of an account in the request log per day", "MAX_ACCOUNT_BYTES_PER_DAY", LOG_BOUNDS, COUNTED),
    operator("Rows of the request log of a cell per day, of all processes", "MAX_ROWS_PER_DAY", LOG_BOUNDS, COUNTED),
    operator("Bytes of the request log of a cell per day, of all processes", "MAX_BYTES_PER_DAY", LOG_BOUNDS, COUNTED),
  ],
}
