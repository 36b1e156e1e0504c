/** A JSON body as the text it travelled as, which is read by nobody before a store writes it. */
export class JsonText {
  readonly text: string;

  /** @param text whole and sound JSON, without secrets: it goes into the record's own text as it is. */
  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}
