/** Files, which come in place of JSON: a ticket's attachment as a form, a picture as it is (v4, Conventions). */

export interface Upload {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Above what any file may have, so that the endpoint can say which bound it keeps. */
export const maxUploadBytes = 6 * 1_048_576;

export function isUpload(contentType: string): boolean {
  return /^(?:multipart\/form-data|image\/)/i.test(contentType);
}

/** The member `file` of a form, or the whole body; undefined where the form is none or has no such member. */
export async function readUpload(contentType: string, bytes: Uint8Array): Promise<Upload | undefined> {
  if (/^image\//i.test(contentType)) return { name: "", bytes };
  try {
    const headers = { "content-type": contentType };
    const file = (await new Response(Buffer.from(bytes), { headers }).formData()).get("file");
    if (file === null || typeof file === "string") return undefined;
    return { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
  } catch {
    return undefined;
  }
}
