import { HttpApiMiddleware } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"

/** Errors that any endpoint can return before its handler runs, plus internal errors. */
export class Validation extends HttpApiMiddleware.Service<Validation>()("@waybill/api/middleware/Validation", {
  error: [
    ApiError.BadRequest,
    ApiError.NotFound,
    ApiError.Internal,
    ApiError.Unavailable,
    ApiError.Unauthorized,
    ApiError.Forbidden,
  ],
}) {}
