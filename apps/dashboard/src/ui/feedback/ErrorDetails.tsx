import { ApiError } from "../../api/ApiError.ts"
import { CopyButton } from "../controls/CopyButton.tsx"
import { UntrustedText } from "../display/UntrustedText.tsx"

/** Fields and request id of an API error, folded away. */
export const ErrorDetails = ({ error }: { readonly error: unknown }) => {
  if (!(error instanceof ApiError) || error.requestId === null) return undefined
  const { details, reason, requestId } = error
  return (
    // A toast would treat the click on the summary as the start of a swipe.
    <details data-base-ui-swipe-ignore className="mt-1 text-xs">
      <summary className="w-fit cursor-pointer">Details</summary>
      <ul className="mt-1 flex flex-col gap-0.5 font-mono break-words">
        <li>{reason}</li>
        {details.map(({ message, path }) => (
          <li key={`${path} ${message}`}>
            <UntrustedText text={path === "" ? message : `${path}: ${message}`} />
          </li>
        ))}
        <li className="flex items-center gap-1">
          <span className="truncate">{requestId}</span>
          <CopyButton text={requestId} label="Copy request ID" />
        </li>
      </ul>
    </details>
  )
}
