/** Attributes and rules of style that load something from another server. */
const REMOTE = /(?:\b(?:src|srcset|background)\s*=\s*["']?|url\(\s*["']?)\s*(?:https?:)?\/\//iu

/** Whether a mail may load images from other servers, so that there is something to allow. */
export const hasRemoteImages = (html: string): boolean => REMOTE.test(html)
