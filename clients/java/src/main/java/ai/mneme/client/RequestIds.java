package ai.mneme.client;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.UUID;

/** Request ids of writes. */
final class RequestIds {
  private RequestIds() {}

  /** The request, with a new request id where it, its item or its items lack one. */
  @SuppressWarnings("unchecked")
  static <M> M fill(M request) {
    return request instanceof Message message ? (M) filled(message) : request;
  }

  private static Message filled(Message request) {
    FieldDescriptor id = request.getDescriptorForType().findFieldByName("request_id");
    if (id != null) {
      boolean isGiven = !((String) request.getField(id)).isEmpty();
      return isGiven ? request : request.toBuilder().setField(id, UUID.randomUUID().toString()).build();
    }
    FieldDescriptor item = request.getDescriptorForType().findFieldByName("item");
    if (item != null && item.getJavaType() == FieldDescriptor.JavaType.MESSAGE && request.hasField(item)) {
      return request.toBuilder().setField(item, filled((Message) request.getField(item))).build();
    }
    FieldDescriptor items = request.getDescriptorForType().findFieldByName("items");
    if (items == null || !items.isRepeated() || items.getJavaType() != FieldDescriptor.JavaType.MESSAGE) {
      return request;
    }
    Message.Builder builder = request.toBuilder();
    for (int i = 0; i < request.getRepeatedFieldCount(items); i++) {
      builder.setRepeatedField(items, i, filled((Message) request.getRepeatedField(items, i)));
    }
    return builder.build();
  }
}
