import { Link } from "@tanstack/react-router"
import type { EmailWithContent } from "../api/Records.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import * as SearchText from "@waybill/domain/search/SearchText"

/** The pairs of an email, each a link to all emails with it. */
export const MetadataList = ({ metadata }: Pick<EmailWithContent, "metadata">) => (
  <ul className="flex flex-col gap-1">
    {Object.entries(metadata).map(([name, value]) => (
      <li key={name} className="wrap-anywhere">
        <Link
          to="/emails"
          search={{ search: SearchText.write("metadata", `${name}=${value}`) }}
          title="Show all emails with this pair"
          className="link"
        >
          <UntrustedText text={`${name}: ${value}`} />
        </Link>
      </li>
    ))}
  </ul>
)
