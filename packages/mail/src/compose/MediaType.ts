/** Names of RFC 6838 §4.2 with optional parameters; no line break, quote or comma can slip in. */
const MEDIA_TYPE =
  /^[A-Za-z0-9][\w!#$&^.+-]{0,126}\/[A-Za-z0-9][\w!#$&^.+-]{0,126}(?: ?; ?[A-Za-z0-9-]{1,40}=(?:[\w!#$&^.+-]{1,80}|"[ !#-[\]-~]{0,80}"))*$/

export const UNKNOWN = "application/octet-stream"

/** Keeps the header line below 998 octets, with space for the other parameters. */
const MEDIA_TYPE_LENGTH_LIMIT = 300

export const isMediaType = (value: string): boolean => value.length <= MEDIA_TYPE_LENGTH_LIMIT && MEDIA_TYPE.test(value)

/** Removes the `name` parameter. A file's name is written once; two could make two readers see two names. */
export const withoutName = (type: string): string =>
  type.replaceAll(PARAMETER, (parameter, name: string) => (name.toLowerCase() === "name" ? "" : parameter))
const PARAMETER = / ?; ?([A-Za-z0-9-]+)=(?:"[^"]*"|[^ ;"]*)/g

/** Returns the media type for a file name's extension, for the types common in mail; octet-stream for all others. */
export const fromFilename = (filename: string): string =>
  BY_EXTENSION.get(filename.slice(filename.lastIndexOf(".") + 1).toLowerCase()) ?? UNKNOWN

const BY_EXTENSION: ReadonlyMap<string, string> = new Map(
  Object.entries({
    avif: "image/avif",
    bmp: "image/bmp",
    csv: "text/csv",
    doc: "application/msword",
    docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    eml: "message/rfc822",
    gif: "image/gif",
    gz: "application/gzip",
    htm: "text/html",
    html: "text/html",
    ics: "text/calendar",
    jpeg: "image/jpeg",
    jpg: "image/jpeg",
    json: "application/json",
    md: "text/markdown",
    mov: "video/quicktime",
    mp3: "audio/mpeg",
    mp4: "video/mp4",
    odp: "application/vnd.oasis.opendocument.presentation",
    ods: "application/vnd.oasis.opendocument.spreadsheet",
    odt: "application/vnd.oasis.opendocument.text",
    ogg: "audio/ogg",
    pdf: "application/pdf",
    pkpass: "application/vnd.apple.pkpass",
    png: "image/png",
    ppt: "application/vnd.ms-powerpoint",
    pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    rtf: "application/rtf",
    svg: "image/svg+xml",
    tar: "application/x-tar",
    tif: "image/tiff",
    tiff: "image/tiff",
    txt: "text/plain",
    vcf: "text/vcard",
    wav: "audio/wav",
    webm: "video/webm",
    webp: "image/webp",
    xls: "application/vnd.ms-excel",
    xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    xml: "application/xml",
    zip: "application/zip",
  }),
)
